/** Kubernetes, on the rig and by what its servers have said. */
@NullMarked
package dev.gpush.backends.kubernetes;

import org.jspecify.annotations.NullMarked;
