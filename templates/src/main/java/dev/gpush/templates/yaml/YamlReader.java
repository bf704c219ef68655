package dev.gpush.templates.yaml;

import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.dataformat.yaml.JacksonYAMLParseException;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import dev.gpush.templates.yaml.Yaml.Mapping;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Reads one YAML file of settings. Built on the tokens of Jackson's parser and not on its binding:
 * so every value has its place, every limit holds before memory is used, and duplicate keys,
 * aliases and tags are ours to judge. Any bytes give an answer; nothing is thrown.
 */
public final class YamlReader {
  /** Nobody writes settings this long; what is longer is another file by mistake. */
  public static final int MOST_BYTES = 1 << 20;

  /** Our own limits hold first; the parser's would leave places and words to it. */
  private static final YAMLFactory PARSERS =
      YAMLFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(2 * Composer.MOST_VALUES)
                  .maxNumberLength(MOST_BYTES)
                  .build())
          .build();

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
    var source = new Source(text.startsWith("\uFEFF") ? text.substring(1) : text);
    if (result.isError()) {
      String what = "is not UTF-8 text: byte 0x%02X".formatted(bytes[in.position()]);
      return broken(new Flaw(source.position(source.length()), "", what));
    }
    OptionalInt forbidden = source.forbidden();
    if (forbidden.isPresent()) {
      int at = forbidden.getAsInt();
      String what = "the character U+%04X is not allowed in YAML".formatted(source.point(at));
      return broken(new Flaw(source.position(at), "", what));
    }
    return parse(source);
  }

  private static Reading parse(Source source) {
    try (YAMLParser tokens = PARSERS.createParser(source.text(0, source.length()))) {
      var composer = new Composer(tokens, source);
      return new Reading(composer.compose(), composer.flaws());
    } catch (JacksonYAMLParseException notYaml) {
      return broken(SyntaxErrors.flaw(notYaml, source));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static Reading broken(Flaw flaw) {
    return new Reading(Optional.empty(), List.of(flaw));
  }
}
