/**
 * The house style, as far as a machine can tell: tests on the text of the sources and documents.
 */
@NullMarked
package dev.gpush.tidy;

import org.jspecify.annotations.NullMarked;
