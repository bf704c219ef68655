package dev.gpush.shell.render;

import java.util.Optional;

/** Somebody who can be asked. */
public interface Asker {
  /** The line that was typed after the question; empty: there is nobody, or the input ended. */
  Optional<String> ask(String question) throws InterruptedException;
}
