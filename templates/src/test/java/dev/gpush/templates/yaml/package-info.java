@NullMarked
package dev.gpush.templates.yaml;

import org.jspecify.annotations.NullMarked;
