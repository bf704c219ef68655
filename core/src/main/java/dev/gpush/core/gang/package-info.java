/**
 * A gang of nodes: what was asked for, what was granted, for how long, and what a backend must know
 * about starting its agents.
 */
@NullMarked
package dev.gpush.core.gang;

import org.jspecify.annotations.NullMarked;
