package dev.gpush.launch.node;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Lines of a command's output, none longer than a screen needs; a progress bar's are lines too. */
final class LineReader {
  private static final int LONGEST = 1000;

  private final InputStream in;

  LineReader(InputStream in) {
    this.in = new BufferedInputStream(in);
  }

  /** The next line that is not blank; empty at the end. */
  Optional<String> next() throws IOException {
    var line = new ByteArrayOutputStream();
    while (true) {
      int each = in.read();
      if (each >= 0 && each != '\n' && each != '\r') {
        if (line.size() < LONGEST) {
          line.write(each);
        }
        continue;
      }
      String text = line.toString(StandardCharsets.UTF_8).strip();
      if (!text.isEmpty()) {
        return Optional.of(text);
      }
      if (each < 0) {
        return Optional.empty();
      }
    }
  }
}
