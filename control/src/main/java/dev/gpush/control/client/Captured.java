package dev.gpush.control.client;

/** What a request gave that was made by a program: its status and all it printed. */
public record Captured(int status, String out, String err) {}
