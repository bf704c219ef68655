/** Tests of the network that ranks really use. */
@NullMarked
package dev.gpush.launch.transport;

import org.jspecify.annotations.NullMarked;
