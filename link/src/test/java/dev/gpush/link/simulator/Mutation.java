package dev.gpush.link.simulator;

/** A fault of the gateway's end, made by the simulator, that the simulator must find. */
enum Mutation {
  NONE,
  /** An ACK counts as sent and is not. */
  DROP_ACK,
  /** One frame is missing in a replay. */
  FORGET_REPLAY,
  /** A CREDIT counts as sent and is not. */
  DROP_CREDIT,
  /** The first piece of DATA of a pipe is handed out twice. */
  REPEAT_DATA,
  /** Bytes go to the other channel. */
  OTHER_CHANNEL,
  /** What a stream's user consumed is not counted. */
  FORGET_CONSUMED,
  /** No sender learns that credit came, or that the pool has room again. */
  DROP_WRITABLE
}
