/**
 * YAML as a tree that knows where everything stands. {@code YamlReader} makes {@code Yaml} from
 * bytes and never throws: what is wrong comes back as {@code Flaw}s. Values, immutable.
 */
@NullMarked
package dev.gpush.templates.yaml;

import org.jspecify.annotations.NullMarked;
