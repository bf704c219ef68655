package dev.gpush.shell.command.reach;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;

/** An editor that works over ssh, and how it is told to open a folder of a host. */
enum Editor {
  CODE("VS Code", "code", "vscode"),
  CURSOR("Cursor", "cursor", "cursor"),
  WINDSURF("Windsurf", "windsurf", "windsurf"),
  ZED("Zed", "zed", "zed"),
  JETBRAINS("JetBrains Gateway", "jetbrains-gateway", "jetbrains-gateway");

  private final String title;
  private final String program;
  private final String scheme;

  Editor(String title, String program, String scheme) {
    this.title = title;
    this.program = program;
    this.scheme = scheme;
  }

  String title() {
    return title;
  }

  /** The usual name of its own command. */
  String program() {
    return program;
  }

  /** All names of its command; some distributions of Linux call Zed's by another one. */
  List<String> programs() {
    return this == ZED ? List.of(program, "zeditor") : List.of(program);
  }

  /** Its command line for a folder of the host. */
  List<String> line(String host, String folder) {
    return switch (this) {
      case CODE, CURSOR, WINDSURF -> List.of(program, "--remote", "ssh-remote+" + host, folder);
      case ZED -> List.of(program, "ssh://" + host + encoded(folder));
      case JETBRAINS ->
          List.of(
              program,
              scheme
                  + "://connect#type=ssh&deploy=false&host="
                  + host
                  + "&user="
                  + host
                  + "&projectPath="
                  + parameter(folder));
    };
  }

  /**
   * The link that its desktop program has registered. Zed's is not the {@code ssh://} of its
   * command, which belongs to terminals. That of JetBrains is for its Toolbox, which takes
   * Gateway's place and has no command; it asks ssh for the host's port and user.
   */
  String link(String host, String folder) {
    return switch (this) {
      case CODE, CURSOR, WINDSURF ->
          scheme + "://vscode-remote/ssh-remote+" + host + encoded(folder);
      case ZED -> scheme + "://ssh/" + host + encoded(folder);
      case JETBRAINS ->
          "jetbrains://gateway/ssh/environment?h="
              + host
              + "&launchIde=true&ideHint=PY&projectHint="
              + parameter(folder);
    };
  }

  private static String parameter(String path) {
    return encoded(path).replace("/", "%2F");
  }

  private static String encoded(String path) {
    try {
      return new URI(null, null, path, null).getRawPath().replace("&", "%26");
    } catch (URISyntaxException never) {
      throw new IllegalArgumentException(path, never);
    }
  }
}
