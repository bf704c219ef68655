// A person at VS Code's workbench in a browser: reads steps from its standard input, one JSON value a line, and answers
// each with the line "ok" once what it asks for is to be seen. Before the first it says "ok" when the folder is there.
//   workbench.js FOLDER_OF_MODULES CHROMIUM URL PICTURE
// What does not happen ends it with the reason, and a picture of the page then.
const readline = require('readline');
const [modules, executablePath, url, picture] = process.argv.slice(2);
const { chromium } = require(modules + '/playwright-core');

// Ends a step that hangs; no machine that works is so slow.
const timeout = 180_000;
const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];

const steps = {
  // A file of the folder, with a line that contains the text.
  async open(page, [file, text]) {
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: file }).first().dblclick();
    await shows(page, text);
  },
  // A line at the end of the open file; it is not saved.
  async append(page, text) {
    await page.locator('.editor-instance .view-lines').first().click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\n' + text);
    await shows(page, text);
  },
  async press(page, key) {
    await page.keyboard.press(key);
  },
  async saved(page) {
    await page.locator('.tabs-container .tab.active:not(.dirty)').waitFor();
  },
  // All that has changed, in the view of the source control.
  async commit(page, message) {
    await page.locator('.activitybar a[aria-label^="Source Control"]').click();
    const input = page.locator('.scm-view .scm-editor').first();
    await input.click();
    await page.keyboard.type(message);
    await input.locator('.view-lines', { hasText: message }).waitFor();
    await page.keyboard.press('Control+Enter');
    // What was committed leaves the view.
    await input.locator('.view-lines', { hasText: message }).waitFor({ state: 'hidden' });
    await page.locator('.activitybar a[aria-label^="Explorer"]').click();
    await page.locator('.explorer-folders-view .monaco-list-row').first().waitFor();
  },
  // The keyboard goes to a terminal, which is opened where there is none.
  async terminal(page) {
    if (await terminal(page).count() === 0) {
      await command(page, 'Terminal: Create New Terminal');
      await terminal(page).waitFor();
    }
    await terminal(page).locator('.xterm-helper-textarea').focus();
  },
  async type(page, text) {
    await page.keyboard.type(text);
  },
  async typeSlowly(page, [text, delay]) {
    await page.keyboard.type(text, { delay });
  },
  // Of the terminal; a word, since a long line is broken and spaces are of another kind.
  async prints(page, word) {
    await terminal(page).locator('.xterm-rows', { hasText: word }).waitFor();
  },
  async picture(page, path) {
    await page.screenshot({ path });
  },
};

// Runs a command of the palette. The palette's list is made when its text changes and has only what can be done then: a
// terminal cannot be made before the workbench has heard from its server. So it is opened again until the command is there.
async function command(page, name) {
  const chosen = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: name }).first();
  const until = Date.now() + timeout;
  for (;;) {
    await page.keyboard.press('F1');
    try {
      await page.locator('.quick-input-widget input').first().fill('>' + name, { timeout: 5_000 });
      await chosen.waitFor({ timeout: 5_000 });
      return await page.keyboard.press('Enter');
    } catch (missing) {
      if (Date.now() > until) {
        throw missing;
      }
      await page.keyboard.press('Escape');
    }
  }
}

function terminal(page) {
  return page.locator('.terminal.xterm').filter({ visible: true });
}

function shows(page, text) {
  return page.waitForFunction(
    (wanted) => [...document.querySelectorAll('.editor-instance .view-line')]
      .some((line) => line.textContent.replaceAll('\u00a0', ' ').includes(wanted)),
    text, { timeout });
}

async function main() {
  const browser = await chromium.launch({ executablePath, headless: true, args: quiet, timeout });
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  page.setDefaultTimeout(timeout);
  try {
    await page.goto(url, { waitUntil: 'domcontentloaded', timeout });
    await page.locator('.monaco-workbench .explorer-folders-view .monaco-list-row').first().waitFor();
    console.log('ok');
    for await (const line of readline.createInterface({ input: process.stdin })) {
      const [[name, argument]] = Object.entries(JSON.parse(line));
      await steps[name](page, argument);
      console.log('ok');
    }
  } catch (failed) {
    await page.screenshot({ path: picture }).catch(() => {});
    throw failed;
  } finally {
    await browser.close();
  }
}

main().catch((failed) => {
  console.log(String(failed.stack || failed).replaceAll('\n', ' '));
  process.exitCode = 1;
}).finally(() => process.exit());
