package dev.gpush.launch.journal;

import dev.gpush.core.run.LineBlock;

/** Makes lines of what one rank writes to one stream. One thread. */
interface Splitter {
  /** Takes the lines, in order. */
  interface Lines {
    /** A line without its line feed. */
    void line(byte[] text);

    /** Several complete lines. */
    void lines(LineBlock lines);

    /** The text so far of a line that is rewritten; also once before that line is given. */
    void rewriting(byte[] text);
  }

  void feed(byte[] payload);

  /** Nothing more comes: gives the rest without a line feed. */
  void end();
}
