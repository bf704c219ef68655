// A person at the page of gpush in a browser: reads steps from its standard input, one JSON value a line, and answers each
// with the line "ok" once what it asks for is to be seen, or with what it was asked for. Before the first it says "ok".
//   page.js FOLDER_OF_MODULES CHROMIUM ADDRESS PICTURE
// What does not happen ends it with the reason, and a picture of the page then. The name rebound.example leads to 127.0.0.1,
// as a name of a hostile site may.
const readline = require('readline');
const [modules, executablePath, address, picture] = process.argv.slice(2);
const { chromium } = require(modules + '/playwright-core');

// Ends a step that hangs; no machine that works is so slow.
const timeout = 120_000;
const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
  '--host-resolver-rules=MAP rebound.example 127.0.0.1'];

const steps = {
  async goto(page, url) {
    await page.goto(url);
  },
  // Another tab of the same browser.
  async tab(page, url) {
    const tab = await page.context().newPage();
    await tab.goto(url);
    const text = await tab.locator('body').innerText();
    await tab.close();
    return text;
  },
  // An element with this selector shows the text.
  async shows(page, [selector, text]) {
    await page.locator(selector, { hasText: text }).first().waitFor();
  },
  async hides(page, selector) {
    await page.locator(selector).first().waitFor({ state: 'hidden' });
  },
  async titled(page, title) {
    await page.waitForFunction(wanted => document.title === wanted, title);
  },
  async click(page, selector) {
    await page.locator(selector).click();
  },
  async press(page, keys) {
    for (const key of [].concat(keys)) {
      await page.keyboard.press(key);
    }
  },
  // Tab, until the element with this name has the focus.
  async tabTo(page, name) {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement.textContent.trim()) === name) {
        return;
      }
    }
    throw new Error('Tab never comes to ' + name);
  },
  async focused(page) {
    return await page.evaluate(() => document.activeElement.textContent.trim());
  },
  async address(page) {
    return page.url();
  },
  // What a screen reader says of all that is shown.
  async read(page) {
    return await page.locator('body').ariaSnapshot();
  },
  async scheme(page, colorScheme) {
    await page.emulateMedia({ colorScheme });
  },
  async width(page, width) {
    await page.setViewportSize({ width, height: 900 });
  },
  // How many pixels of the page lie beside the window.
  async beside(page) {
    return await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  },
  // The texts whose colour is too much like their ground (WCAG 2: 4.5 to 1).
  async faint(page) {
    return await page.evaluate(faint);
  },
  // A gang that this machine does not have, as the gateway would send it: what the pictures of the guide show.
  async madeUp(page) {
    await page.evaluate(madeUp);
  },
  async picture(page, path) {
    const bottom = await page.evaluate(() => Math.ceil(document.querySelector('main').getBoundingClientRect().bottom));
    await page.screenshot({ path, clip: { x: 0, y: 0, width: page.viewportSize().width, height: bottom }, fullPage: true });
  },
};

// In the page: what comes after it is not heard.
function madeUp() {
  stream.abort.abort();
  const ago = seconds => new Date(Date.now() - seconds * 1000).toISOString();
  const session = { name: 'devbox', state: 'ready', detail: '', needs_you: null, backend: 'hpc', shape: '2×4 H100', age_s: 11_580,
    hard_end_s: 17_220, idle_end_s: null, activity: 'busy: run 7, and your editor', generation: 42, runs: 1,
    python: '~/envs/llm/bin/python', synced: true, folder: '/home/ann/proj' };
  const waiting = { ...session, name: 'sweep', state: 'queued', detail: '4 of 19 · ≈14:20 ±40m · Priority', shape: '8×8 H100',
    hard_end_s: null, runs: 0, age_s: 1260 };
  const nodes = [0, 1].map(node => ({ node, host: 'gpu0' + (node + 3), gpu_model: 'H100', slots: ['0', '1', '2', '3'], claimed: 4,
    link: 'up', generation: 42, activity: 'run 7' }));
  const gpu = (node, gpu) => {
    const slow = node === 1 && gpu === 2;
    return { gpu: String(gpu), model: 'H100', run: 7, util_percent: slow ? 61 : 96 + (node + gpu) % 3, memory_used: 73e9 + gpu * 4e8,
      memory_total: 80 * 2 ** 30, power_w: slow ? 402 : 661 + 7 * gpu, temperature_c: slow ? 84 : 62 + gpu,
      throttled: slow ? ['hot'] : [], problem: null };
  };
  const usage = { stands_out: [{ node: 1, gpu: '2', rank: null, what: 'utilisation 61%, the others 97%; throttled: hot' }],
    nodes: [0, 1].map(node => ({ node, problem: null, cpu_percent: 38 + 3 * node, memory_used: 212e9, memory_total: 1.08e12,
      disk_free: 1.3e12, network: [{ device: 'ib0', in: 24.1e9, out: 24e9 }], gpus: [0, 1, 2, 3].map(each => gpu(node, each)) })) };
  const run = { run: 7, session: 'devbox', state: 'running', exit: null, words: ['train.py', '--lr', '3e-4'], ranks: 8, started: ago(5100),
    ended: null, duration_s: 5100, generation: 42, failure: null };
  const failed = { ...run, run: 6, state: 'failed', exit: 1, started: ago(5700), ended: ago(5690), duration_s: 8, generation: 41,
    failure: { text: 'rank 3 (node 0 on gpu03) failed first: NameError: name \'lrr\' is not defined (train.py:41)' } };
  history.replaceState(null, '', '#devbox/7');
  stream.session = 'devbox';
  clearOutput();
  Object.assign(known, { sessions: null, runs: null });
  document.getElementById('news').replaceChildren();
  hear({ of: 'sessions', data: [session, waiting] });
  hear({ of: 'nodes', data: nodes });
  hear({ of: 'usage', data: usage });
  hear({ of: 'runs', data: [run, failed] });
  const lines = Array.from({ length: 40 }, (_, i) => ({ type: 'line', rank: 0, stream: 'out', text:
    'step ' + (4100 + 10 * i) + '  loss ' + (2.31 - i / 300).toFixed(3) + '  412k tokens/s' }));
  hear({ of: 'output', data: lines, left_out: 0 });
  tell('devbox, run 7 is running');
}

function faint() {
  const rgb = color => (color.match(/[\d.]+/g) || []).map(Number);
  const light = color => rgb(color).slice(0, 3).map(each => each / 255)
    .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
    .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = element => {
    for (let each = element; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if (rgb(color)[3] !== 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (texts.currentNode.data.trim() && element.checkVisibility() && !element.closest(':disabled')) {
      const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) found.push(texts.currentNode.data.trim() + ' ' + ratio.toFixed(1));
    }
  }
  return found;
}

async function main() {
  const browser = await chromium.launch({ executablePath, args: quiet });
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(timeout);
  page.on('console', message => {
    if (message.type() === 'error') console.error(message.text());
  });
  let begun = 'opening ' + address;
  try {
    await page.goto(address);
    console.log('ok');
    for await (const line of readline.createInterface({ input: process.stdin })) {
      begun = line;
      const [name, argument] = Object.entries(JSON.parse(line))[0];
      const said = await steps[name](page, argument);
      console.log(said === undefined ? 'ok' : JSON.stringify(said));
    }
  } catch (failed) {
    console.error(begun + ': ' + failed);
    console.error(await page.locator('body').innerText().catch(String));
    await page.screenshot({ path: picture, fullPage: true }).catch(() => {});
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

// Even while standard input is open: who waits for an answer must see that there is none.
main().catch(failed => {
  console.error(failed);
  process.exitCode = 1;
}).finally(() => process.exit());
