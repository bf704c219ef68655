/** The ssh backend on the hosts of the ssh rig: real sshds, agents and locks, made-up GPUs. */
@org.jspecify.annotations.NullMarked
package dev.gpush.backends.hosts.ssh;
