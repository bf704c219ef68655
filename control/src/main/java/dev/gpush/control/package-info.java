/** The client and the control server: arguments go in; bytes, signals and a status come out. */
@NullMarked
package dev.gpush.control;

import org.jspecify.annotations.NullMarked;
