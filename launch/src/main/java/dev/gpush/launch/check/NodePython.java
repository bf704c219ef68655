package dev.gpush.launch.check;

import dev.gpush.launch.node.PythonFacts;

/** The user's interpreter on one node, as a check finds it. */
sealed interface NodePython {
  record Known(PythonFacts facts) implements NodePython {}

  /** None that works, for this reason. */
  record Missing(String why) implements NodePython {}

  /** The node could not be asked, for this reason. */
  record Unknown(String why) implements NodePython {}
}
