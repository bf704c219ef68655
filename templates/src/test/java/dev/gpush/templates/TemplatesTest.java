package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.config.Configs.Template;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TemplatesTest {
  @TempDir private Path folder;

  @Test
  void everyShippedTemplateIsUsableAndSaysWhatItIsFor() {
    List<Template> templates = Folders.in(folder).configs().templates(folder);

    assertEquals(
        List.of("ddp", "hello", "one-gpu"), templates.stream().map(Template::name).toList());
    for (Template template : templates) {
      assertTrue(!template.summary().isEmpty() && template.summary().length() <= 70);
      assertEquals("built in", template.origin());
      Folders heir = Folders.in(folder.resolve(template.name()));
      heir.with("gpush.yaml", "inherits: " + template.name() + "\n");
      assertTrue(heir.setting("nodes").contains("gpush.yaml:1 (template " + template.name() + ":"));
    }
  }

  @Test
  void aPersonsTemplateWinsOverTheShippedOne() {
    Folders folders =
        Folders.in(folder)
            .with("hello.yaml", "# Mine\nnodes: 7\n")
            .with("other.yaml", "nodes: 8\n")
            .with("Not A Name.yaml", "")
            .with("notes.txt", "")
            .with("gpush.yaml", "inherits: hello\n");

    List<Template> templates = folders.configs().templates(folders.project());

    assertEquals(
        List.of("ddp", "hello", "one-gpu", "other"),
        templates.stream().map(Template::name).toList());
    assertEquals(
        new Template("hello", "Mine", "# Mine\nnodes: 7\n", "templates/hello.yaml"),
        templates.get(1));
    assertEquals("", templates.get(3).summary());
    assertEquals("7 gpush.yaml:1 (template hello:2)", folders.setting("nodes"));
  }

  @Test
  void templatesLieOnTemplates() {
    Folders folders =
        Folders.in(folder)
            .with("top.yaml", "inherits: bottom\nnodes: 2\n")
            .with("bottom.yaml", "nodes: 3\ngpus: 4\n")
            .with("gpush.yaml", "# team\ninherits: top\n");

    assertEquals("2 gpush.yaml:2 (template top:2)", folders.setting("nodes"));
    assertEquals("\"4\" gpush.yaml:2 (template bottom:2)", folders.setting("gpus"));
  }
}
