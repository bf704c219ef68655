/**
 * The words of gpush and its ports: plain data and interfaces. No I/O, no libraries, no printing.
 * What belongs here is what two modules must agree on; everything else lives with the module that
 * does it.
 */
@NullMarked
package dev.gpush.core;

import org.jspecify.annotations.NullMarked;
