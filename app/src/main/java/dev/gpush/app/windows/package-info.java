/** Programs of Windows, where gpush runs inside WSL. */
@NullMarked
package dev.gpush.app.windows;

import org.jspecify.annotations.NullMarked;
