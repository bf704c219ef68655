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

  /** The name of its own command. */
  String program() {
    return program;
  }

  /** Its command line for a folder of the host. */
  List<String> line(String host, String folder) {
    return switch (this) {
      case CODE, CURSOR, WINDSURF -> List.of(program, "--remote", "ssh-remote+" + host, folder);
      case ZED, JETBRAINS -> List.of(program, link(host, folder));
    };
  }

  /** The link that its desktop program opens. */
  String link(String host, String folder) {
    return switch (this) {
      case CODE, CURSOR, WINDSURF ->
          scheme + "://vscode-remote/ssh-remote+" + host + encoded(folder);
      case ZED -> "ssh://" + host + encoded(folder);
      case JETBRAINS ->
          scheme
              + "://connect#type=ssh&deploy=false&host="
              + host
              + "&user="
              + host
              + "&projectPath="
              + encoded(folder).replace("/", "%2F");
    };
  }

  private static String encoded(String path) {
    try {
      return new URI(null, null, path, null).getRawPath().replace("&", "%26");
    } catch (URISyntaxException never) {
      throw new IllegalArgumentException(path, never);
    }
  }
}
