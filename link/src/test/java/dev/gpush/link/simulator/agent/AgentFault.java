package dev.gpush.link.simulator.agent;

/** A fault of the agent's link that the simulator must find. Both were real ones. */
public enum AgentFault {
  NONE,
  /** After 64 frames of the fast lane a frame goes whose stream's OPENED is still in it. */
  OVERTAKE_OPENED,
  /** A source that found no room is forgotten when the other one of its stream finds some. */
  FORGET_SOURCE
}
