package dev.gpush.chaos;

import dev.gpush.core.machine.Pipe;

/** The answer has come, and whoever asked may die before it is read. */
record Answered(Pipe pipe, Life life) implements PipeAround {
  @Override
  public int await() throws InterruptedException {
    int status = pipe.await();
    life.moment();
    return status;
  }
}
