@NullMarked
package dev.gpush.ssh.audit;

import org.jspecify.annotations.NullMarked;
