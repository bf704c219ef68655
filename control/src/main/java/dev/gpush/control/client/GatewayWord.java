package dev.gpush.control.client;

import java.util.List;

/** The commands that are about the gateway process itself and must not start one. */
enum GatewayWord {
  NONE,
  STATUS,
  STOP;

  static GatewayWord of(List<String> arguments) {
    List<String> words = arguments.stream().filter(word -> !word.startsWith("-")).toList();
    if (words.size() != 2 || !words.get(0).equals("gateway") || arguments.contains("--help")) {
      return NONE;
    }
    return switch (words.get(1)) {
      case "status" -> STATUS;
      case "stop" -> STOP;
      default -> NONE;
    };
  }
}
