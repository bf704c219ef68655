package dev.gpush.ssh.recording;

import java.util.Optional;

/** Records terminals, or none. */
@FunctionalInterface
public interface TerminalRecorder {
  TerminalRecorder NONE = _ -> Optional.empty();

  /** Empty when this terminal is not recorded. */
  Optional<TerminalRecording> begin(RecordedTerminal terminal);
}
