/** The effective configuration: every value with where it came from. */
@NullMarked
package dev.gpush.core.config;

import org.jspecify.annotations.NullMarked;
