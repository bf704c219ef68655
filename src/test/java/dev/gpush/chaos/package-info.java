/**
 * Sessions on real places while everything goes wrong, by the seed: gateways in this process that
 * die at their n-th doing, over real Slurm, real ssh hosts and this machine. A {@code Scene} is
 * such a place: what can go wrong there, and what is really there of a gang, asked past gpush.
 */
@NullMarked
package dev.gpush.chaos;

import org.jspecify.annotations.NullMarked;
