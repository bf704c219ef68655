/** Tests of the configuration: tables of bad files, precedence, templates, noise. */
@org.jspecify.annotations.NullMarked
package dev.gpush.templates;
