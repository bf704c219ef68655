/**
 * What {@code gpush init} finds around the user, and what it proposes to write. Finders are made by
 * modules that know ssh, Kubernetes and this machine; {@link dev.gpush.core.setup.PlaceSearch} runs
 * them all at the same time.
 */
@NullMarked
package dev.gpush.core.setup;

import org.jspecify.annotations.NullMarked;
