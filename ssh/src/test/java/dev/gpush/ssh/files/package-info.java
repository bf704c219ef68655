@NullMarked
package dev.gpush.ssh.files;

import org.jspecify.annotations.NullMarked;
