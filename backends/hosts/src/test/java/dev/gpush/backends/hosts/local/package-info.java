/** The local backend before its contract, with the real agent and a made-up nvidia-smi. */
@org.jspecify.annotations.NullMarked
package dev.gpush.backends.hosts.local;
