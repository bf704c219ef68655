@NullMarked
package dev.gpush.templates.setup;

import org.jspecify.annotations.NullMarked;
