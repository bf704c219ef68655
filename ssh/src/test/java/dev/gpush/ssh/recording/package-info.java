@NullMarked
package dev.gpush.ssh.recording;

import org.jspecify.annotations.NullMarked;
