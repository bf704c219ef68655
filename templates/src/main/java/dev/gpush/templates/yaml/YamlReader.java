package dev.gpush.templates.yaml;

import dev.gpush.templates.yaml.Yaml.Mapping;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads one YAML file of settings. Built on the engine's events and not on its node tree: so every
 * limit holds before memory is used, and duplicate keys, aliases and tags are ours to judge. Any
 * bytes give an answer; nothing is thrown.
 */
public final class YamlReader {
  /** Nobody writes settings this long; what is longer is another file by mistake. */
  public static final int MOST_BYTES = 1 << 20;

  /** The engine's sentences are for people, but may quote the file. */
  private static final int MOST_WORDS = 200;

  private YamlReader() {}

  /** What was found: no content when the file is empty or cannot be read as a mapping. */
  public record Reading(Optional<Mapping> content, List<Flaw> flaws) {
    public Reading {
      flaws = List.copyOf(flaws);
    }
  }

  public static Reading read(byte[] bytes) {
    if (bytes.length > MOST_BYTES) {
      return broken(new Flaw(Position.START, "", "is larger than 1 MB; settings are not"));
    }
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CharBuffer out = CharBuffer.allocate(bytes.length + 1);
    CoderResult result = decoder.decode(in, out, true);
    String text = out.flip().toString();
    if (result.isError()) {
      String what = "is not UTF-8 text: byte 0x%02X".formatted(bytes[in.position()]);
      return broken(new Flaw(positionAfter(text), "", what));
    }
    return parse(text.startsWith("\uFEFF") ? text.substring(1) : text);
  }

  private static Reading parse(String text) {
    LoadSettings settings = LoadSettings.builder().setCodePointLimit(MOST_BYTES + 1).build();
    var composer = new Composer();
    try {
      Optional<Mapping> content =
          composer.compose(new Parse(settings).parseString(text).iterator());
      return new Reading(content, composer.flaws());
    } catch (MarkedYamlEngineException wrong) {
      return broken(flaw(text, wrong));
    } catch (ReaderException wrong) {
      int end = text.offsetByCodePoints(0, Math.min(wrong.getPosition(), codePoints(text)));
      String what = "the character U+%04X is not allowed in YAML".formatted(wrong.getCodePoint());
      return broken(new Flaw(positionAfter(text.substring(0, end)), "", what));
    } catch (YamlEngineException | IndexOutOfBoundsException | IllegalArgumentException wrong) {
      // The last two are the engine's own slips on torn input, such as an escape beyond Unicode.
      return broken(
          new Flaw(
              Position.START, "", "is not YAML: " + clean(String.valueOf(wrong.getMessage()))));
    }
  }

  private static int codePoints(String text) {
    return text.codePointCount(0, text.length());
  }

  private static Flaw flaw(String text, MarkedYamlEngineException wrong) {
    Optional<Mark> mark = wrong.getProblemMark().or(wrong::getContextMark);
    Position at = mark.map(YamlReader::position).orElse(Position.START);
    if (isTab(text, at)) {
      return new Flaw(at, "", "a tab; YAML is indented with spaces");
    }
    String problem = clean(wrong.getProblem());
    String what =
        problem.startsWith("expected <block end>")
            ? "this does not line up with the lines above"
            : problem;
    return new Flaw(at, "", "is not YAML: " + what);
  }

  private static boolean isTab(String text, Position at) {
    String line = text.lines().skip(at.line() - 1L).findFirst().orElse("");
    return at.column() <= line.length() && line.charAt(at.column() - 1) == '\t';
  }

  static Position position(Mark mark) {
    return new Position(mark.getLine() + 1, mark.getColumn() + 1);
  }

  private static Position positionAfter(String text) {
    int lines = (int) text.chars().filter(c -> c == '\n').count();
    String last = text.substring(text.lastIndexOf('\n') + 1);
    return new Position(lines + 1, codePoints(last) + 1);
  }

  /** The engine quotes what it met: capped and without control characters. */
  private static String clean(String message) {
    String plain = message.replaceAll("\\s+", " ").replaceAll("\\p{Cntrl}", "");
    return plain.length() <= MOST_WORDS ? plain : plain.substring(0, MOST_WORDS) + "…";
  }

  private static Reading broken(Flaw flaw) {
    return new Reading(Optional.empty(), List.of(flaw));
  }
}
