/**
 * What {@code gpush init} writes: {@link dev.gpush.templates.setup.YamlSetup} turns what was found
 * into blocks of config.yaml and, in a project, into a gpush.yaml. Without threads of its own.
 */
@NullMarked
package dev.gpush.templates.setup;

import org.jspecify.annotations.NullMarked;
