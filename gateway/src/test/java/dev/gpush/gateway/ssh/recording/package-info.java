@NullMarked
package dev.gpush.gateway.ssh.recording;

import org.jspecify.annotations.NullMarked;
