package dev.gpush.launch.words;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MpiCommandTest {
  private static MpiCommand parse(String line) {
    return MpiCommand.parse(List.of(line.strip().split(" "))).orElseThrow();
  }

  private static String joined(List<String> words) {
    return String.join(" ", words);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          mpirun ./a.out -n 3                                             | ./a.out -n 3   |                             |
          mpirun -np 4 -H a,b python t.py --host x                        | python t.py --host x | -np 4                 | -H a,b
          mpiexec -n 4 -ppn 2 -f hosts -genvall -genv A 1 -l ./a          | ./a            | -n 4 -ppn 2 -genv A 1 -l    | -f hosts -genvall
          mpirun --np=2 --hostfile=h --map-by ppr:1:node --oversubscribe a | a             | --np=2 --map-by ppr:1:node --oversubscribe | --hostfile=h
          mpirun --mca plm_rsh_agent ssh --mca btl ^openib -x A -x B=1 a  | a              | --mca btl ^openib -x A -x B=1 | --mca plm_rsh_agent ssh
          /opt/mpi/bin/mpiexec.hydra -launcher ssh -np 1 -- a             | a              | -np 1                       | -launcher ssh
          mpirun --unknown python t.py                                    | python t.py    | --unknown                   |
          mpirun --unknown value ./t                                      | ./t            | --unknown value             |
          """)
  void keepsOptionsExceptThoseOfHosts(String line, String program, String kept, String replaced) {
    MpiCommand command = parse(line);

    assertEquals(program, joined(command.apps().getFirst().program()));
    assertEquals(Optional.ofNullable(kept).orElse(""), joined(command.apps().getFirst().options()));
    assertEquals(Optional.ofNullable(replaced).orElse(""), joined(command.replaced()));
  }

  @Test
  void readsSeveralPrograms() {
    MpiCommand command = parse("mpirun -np 1 -H a ./lead : -np 3 ./work --n 2");

    assertEquals(
        "-np 1 ./lead : -np 3 ./work --n 2",
        command.apps().stream()
            .map(app -> joined(app.options()) + " " + joined(app.program()))
            .collect(Collectors.joining(" : ")));
    assertEquals(OptionalInt.of(4), command.ranks());
    assertEquals(OptionalInt.empty(), parse("mpirun -np 1 ./lead : ./work").ranks());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mpirun                     | mpirun without a program",
        "mpirun -np 2               | mpirun without a program",
        "mpirun -np 2 a : -np 1     | mpirun without a program",
        "mpirun -np two ./a         | mpirun -np two is not a number of ranks",
        "mpirun -np 0 ./a           | mpirun -np 0 is not a number of ranks",
        "mpirun -np                 | mpirun -np is not a number of ranks",
        "mpirun -wdir /x ./a        | mpirun -wdir is not possible here",
        "mpirun --rankfile f ./a    | mpirun --rankfile is not possible here",
      })
  void namesWhatCannotBe(String line, String rule) {
    var failed = assertThrows(GpushException.class, () -> parse(line));

    String said = ((UsageFailure.BadArguments) failed.failure()).rule();
    assertTrue(said.startsWith(rule), said);
  }

  @Test
  void asksTheLauncherAboutItself() {
    assertEquals(Optional.empty(), MpiCommand.parse(List.of("mpirun", "--version")));
  }

  @Test
  void findsTheScriptOfPython() {
    assertEquals(List.of("-u", "t.py", "x"), parse("mpirun -n 2 python -u t.py x").pythonScript());
    assertEquals(List.of(), parse("mpirun -n 2 ./t.py x").pythonScript());
    assertEquals(List.of(), parse("mpirun -n 2 python -m t x").pythonScript());
  }
}
