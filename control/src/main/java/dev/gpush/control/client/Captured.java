package dev.gpush.control.client;

/** The result of a request made by a program: its status and everything that it printed. */
public record Captured(int status, String out, String err) {}
