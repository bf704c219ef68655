package dev.gpush.shell.command.place;

import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Nearest;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "templates",
    header = "List the session templates, or print one",
    description = {"A template is a commented gpush.yaml to start from."},
    footer = {"$ gpush templates ddp > gpush.yaml"})
public final class TemplatesCommand implements Action {
  @Parameters(paramLabel = "TEMPLATE", arity = "0..1", description = "print this one")
  Optional<String> name;

  @Override
  public int run(Call call) {
    List<Configs.Template> templates = call.services().configs().templates(call.folder());
    if (name.isPresent()) {
      call.print(find(templates, name.get()).text());
      return 0;
    }
    if (call.common().json) {
      call.print(Json.array(templates.stream().map(Documents::template).toList()));
      return 0;
    }
    Table table = new Table("NAME", "WHAT", "FROM");
    templates.forEach(
        template -> table.row(template.name(), template.summary(), template.origin()));
    call.print(table);
    return 0;
  }

  private static Configs.Template find(List<Configs.Template> templates, String name) {
    List<String> names = templates.stream().map(Configs.Template::name).toList();
    List<String> nearest = Nearest.to(name, names);
    return templates.stream()
        .filter(template -> template.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new GpushException(
                    new UsageFailure.BadArguments(
                        "templates",
                        "there is no template '" + name + "'; there is " + String.join(", ", names),
                        nearest.stream().map(near -> "templates " + near).toList())));
  }
}
