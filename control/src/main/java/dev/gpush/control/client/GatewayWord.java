package dev.gpush.control.client;

import java.util.List;

/** The commands that are about the gateway process itself and must not start one. */
enum GatewayWord {
  NONE,
  STATUS,
  STOP;

  static GatewayWord of(List<String> arguments) {
    List<String> words = arguments.stream().filter(word -> !word.startsWith("-")).toList();
    boolean isHelp = arguments.contains("--help") || arguments.contains("-h");
    if (words.isEmpty() || words.size() > 2 || !words.getFirst().equals("gateway") || isHelp) {
      return NONE;
    }
    return switch (words.size() == 1 ? "status" : words.get(1)) {
      case "status" -> STATUS;
      case "stop" -> STOP;
      default -> NONE;
    };
  }
}
