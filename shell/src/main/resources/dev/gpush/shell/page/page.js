// The page of gpush: shows what commands say with --json, as they come in lines from /live, and asks before it ends or
// extends something. Text is only ever set as text. What is shown is in the address: #SESSION or #SESSION/RUN.
'use strict';

const HEADER = { 'X-Gpush': 'page' };
const MOST_LINES = 2000;
const MOST_NEWS = 30;
// The gateway says something every five seconds.
const SILENCE_MS = 20_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

const $ = id => document.getElementById(id);
const known = { sessions: null, nodes: null, runs: null, usage: null };
const came = {};
let stream = null;

// ---- words and numbers

function duration(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  const [d, h, m] = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
  if (d) return d + 'd' + (h ? h + 'h' : '');
  if (h) return h + 'h' + (m ? m + 'm' : '');
  return m ? m + 'm' : s + 's';
}

// As gpush top has them: memory in units of 1024, rates in units of 1000.
function size(bytes, step = 1024) {
  if (bytes === null || bytes === undefined) return '–';
  let value = bytes, unit = -1;
  while (value >= 999.5 && unit < 4) { value /= step; unit++; }
  return unit < 0 ? bytes + 'B' : value.toFixed(value < 99.95 ? 1 : 0) + 'kMGTP'[unit];
}

function amount(bytes, total) {
  const [a, b] = [size(bytes), size(total)];
  return a === '–' || b === '–' ? '–' : (a.slice(-1) === b.slice(-1) ? a.slice(0, -1) : a) + '/' + b;
}

const since = what => (Date.now() - (came[what] || Date.now())) / 1000;
const percent = value => value === null || value === undefined ? '–' : Math.round(value) + '%';
const or = value => value === null || value === undefined || value === '' ? '–' : String(value);
const rate = devices => devices && devices.length
  ? ['in', 'out'].map(k => size(devices.reduce((sum, each) => sum + (each[k] || 0), 0), 1000)).join(' / ') : '–';

function lease(session) {
  const hard = session.hard_end_s, idle = session.idle_end_s, gone = since('sessions');
  const parts = [];
  if (hard !== null) parts.push(duration(hard - gone));
  if (idle !== null && (hard === null || idle < hard)) parts.push(duration(idle - gone) + ' idle');
  return parts.join(', ') || '–';
}

function tone(state) {
  if (['ready', 'running', 'done', 'up'].includes(state)) return 'good';
  if (['failed', 'lost', 'leaked', 'over', 'refused'].includes(state)) return 'bad';
  return ['stopped', 'unknown', 'released'].includes(state) ? '' : 'warn';
}

const title = run => run.words.join(' ');

// ---- tables: rows and cells stay where they are, so that focus and screen readers keep their place

const columns = {
  sessions: [
    { head: 'Name', text: s => s.name, link: s => '#' + s.name },
    { head: 'Backend', text: s => s.backend, style: 'minor' },
    { head: 'Shape', text: s => s.shape },
    { head: 'State', text: s => s.needs_you ? 'needs you' : s.state, tone: s => s.needs_you ? 'warn' : tone(s.state) },
    { head: 'Age', text: s => duration(s.age_s + since('sessions')), style: 'minor' },
    { head: 'Lease', text: lease },
    { head: 'Runs', text: s => or(s.runs || null) },
    { head: 'Folder', text: s => s.folder, style: 'minor' },
  ],
  nodes: [
    { head: 'Node', text: n => String(n.node) },
    { head: 'Host', text: n => n.host },
    { head: 'Link', text: n => n.link, tone: n => tone(n.link) },
    { head: 'Slots', text: n => n.claimed + '/' + n.slots.length + ' ' + (n.gpu_model || 'cpu') },
    { head: 'Code', text: n => n.generation === null ? '?' : n.generation ? 'G' + n.generation : '–', style: 'minor' },
    { head: 'CPU', text: n => percent(used(n).cpu_percent), level: n => used(n).cpu_percent },
    { head: 'Memory', text: n => amount(used(n).memory_used, used(n).memory_total), style: 'minor' },
    { head: 'Free disk', text: n => size(used(n).disk_free), style: 'minor' },
    { head: 'Net in / out', text: n => rate(used(n).network), style: 'minor' },
    { head: 'Activity', text: n => used(n).problem || or(n.activity), style: 'words' },
  ],
  gpus: [
    { head: 'Node', text: g => String(g.node) },
    { head: 'GPU', text: g => String(g.gpu) },
    { head: 'Model', text: g => or(g.model), style: 'minor' },
    { head: 'Run', text: g => or(g.run) },
    { head: 'Use', text: g => percent(g.util_percent), level: g => g.util_percent },
    { head: 'Memory', text: g => amount(g.memory_used, g.memory_total) },
    { head: 'Power', text: g => g.power_w === null ? '–' : Math.round(g.power_w) + ' W', style: 'minor' },
    { head: 'Temp', text: g => g.temperature_c === null ? '–' : Math.round(g.temperature_c) + ' °C', style: 'minor' },
    { head: 'Note', text: g => g.problem || (g.throttled || []).toString(), style: 'words', tone: () => 'warn' },
  ],
  runs: [
    { head: 'Run', text: r => String(r.run), link: r => '#' + r.session + '/' + r.run },
    { head: 'State', text: r => r.state, tone: r => tone(r.state) },
    { head: 'Exit', text: r => or(r.exit) },
    { head: 'Ranks', text: r => String(r.ranks), style: 'minor' },
    { head: 'Started', text: r => duration((Date.now() - Date.parse(r.started)) / 1000) + ' ago', style: 'minor' },
    { head: 'Took', text: r => duration(r.duration_s + (r.ended ? 0 : since('runs'))) },
    { head: 'Code', text: r => 'G' + r.generation, style: 'minor' },
    { head: 'Command', text: title },
    { head: 'Reason', text: r => r.failure ? r.failure.text : '', style: 'words minor' },
  ],
};

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function draw(id, items, key, isCurrent = () => false) {
  const table = $(id), spec = columns[id];
  if (!table.tHead) {
    const row = table.createTHead().insertRow();
    for (const column of spec) {
      const head = document.createElement('th');
      head.scope = 'col';
      head.className = column.style || '';
      head.textContent = column.head;
      row.append(head);
    }
    table.createTBody();
  }
  const body = table.tBodies[0];
  const rows = new Map([...body.rows].map(row => [row.dataset.key, row]));
  items.forEach((item, at) => {
    const name = String(key(item));
    const row = rows.get(name) || newRow(spec, name);
    rows.delete(name);
    if (body.rows[at] !== row) body.insertBefore(row, body.rows[at] || null);
    if (isCurrent(item)) row.setAttribute('aria-current', 'true');
    else row.removeAttribute('aria-current');
    spec.forEach((column, i) => fill(row.cells[i], column, item));
  });
  rows.forEach(row => row.remove());
  table.hidden = items.length === 0;
}

function newRow(spec, name) {
  const row = document.createElement('tr');
  row.dataset.key = name;
  for (const column of spec) {
    const cell = row.insertCell();
    cell.className = column.style || '';
    if (column.level) {
      const meter = document.createElement('meter');
      meter.max = 100;
      // The number beside it says the same.
      meter.setAttribute('aria-hidden', 'true');
      cell.append(meter);
    }
    cell.append(document.createElement(column.link ? 'a' : 'span'));
  }
  return row;
}

function fill(cell, column, item) {
  const text = cell.lastChild;
  set(text, column.text(item));
  if (column.tone) text.className = column.tone(item);
  if (column.link && text.getAttribute('href') !== column.link(item)) text.href = column.link(item);
  if (column.level) {
    const level = column.level(item);
    cell.firstChild.hidden = level === null || level === undefined;
    cell.firstChild.value = level || 0;
  }
}

function used(node) {
  const all = known.usage && known.usage.data ? known.usage.data.nodes : [];
  return all.find(each => each.node === node.node) || {};
}

// ---- what is chosen

function chosen() {
  const [session, run] = location.hash.slice(1).split('/');
  const names = known.sessions && known.sessions.data ? known.sessions.data.map(each => each.name) : [];
  return { session: session || names[0] || '', run: /^[0-9]{1,9}$/.test(run || '') ? Number(run) : 0 };
}

const sessionNow = () => (known.sessions && known.sessions.data || []).find(each => each.name === chosen().session);
const runNow = () => (known.runs && known.runs.data || []).find(each => each.run === chosen().run);

// ---- drawing

function drawAll() {
  const { session: name, run: number } = chosen();
  const sessions = known.sessions && known.sessions.data || [];
  draw('sessions', sessions, each => each.name, each => each.name === name);
  $('sessions-empty').hidden = !known.sessions || sessions.length > 0 || Boolean(known.sessions.problem);
  const session = sessionNow();
  document.title = (session ? session.name + ' · ' : '') + 'gpush';
  $('session').hidden = !session;
  if (!session) return;
  set($('session-title'), session.name + ' · ' + session.shape);
  drawFacts(session);
  const nodes = known.nodes && known.nodes.data || [];
  draw('nodes', nodes, each => each.node);
  set($('nodes-empty'), known.nodes && known.nodes.problem || 'No nodes yet.');
  $('nodes-empty').hidden = !known.nodes || nodes.length > 0;
  drawUsage();
  const runs = known.runs && known.runs.data || [];
  draw('runs', runs, each => each.run, each => each.run === number);
  $('runs-empty').hidden = !known.runs || runs.length > 0 || Boolean(known.runs.problem);
  const run = runNow();
  $('run').hidden = number === 0;
  set($('run-title'), 'Run ' + number + (run ? ' · ' + run.state + ' · ' + title(run) : ''));
  $('stop').hidden = !run || Boolean(run.ended);
  const reason = run && run.failure ? run.failure.text : '';
  set($('reason'), reason);
  $('reason').hidden = !reason;
}

function drawFacts(session) {
  const facts = [
    ['State', session.state + (session.detail ? ': ' + session.detail : '')],
    ['Needs you', session.needs_you ? 'type gpush login ' + session.needs_you : ''],
    ['Lease', lease(session)],
    ['Activity', session.activity || ''],
    ['Files', (session.generation ? 'G' + session.generation + ', ' : '')
      + (session.synced ? 'synced: every node has your last save' : 'not synced, or not certain')],
    ['Python', session.python || ''],
    ['Folder', session.folder],
  ].filter(([, text]) => text);
  const list = $('facts');
  while (list.children.length > facts.length * 2) list.lastChild.remove();
  facts.forEach(([name, text], at) => {
    if (!list.children[at * 2]) list.append(document.createElement('dt'), document.createElement('dd'));
    set(list.children[at * 2], name);
    set(list.children[at * 2 + 1], text);
  });
}

function drawUsage() {
  const usage = known.usage && known.usage.data;
  const gpus = usage ? usage.nodes.flatMap(node => node.gpus.map(gpu => ({ ...gpu, node: node.node }))) : [];
  draw('gpus', gpus, each => each.node + ':' + each.gpu);
  $('gpus-part').hidden = gpus.length === 0;
  const lines = (usage ? usage.stands_out : []).map(each => 'node ' + each.node
    + (each.gpu === null ? '' : ' GPU ' + each.gpu) + (each.rank === null ? '' : ' rank ' + each.rank) + ': ' + each.what);
  if (known.usage && known.usage.problem) lines.push(known.usage.problem);
  const list = $('standouts');
  while (list.children.length > lines.length) list.lastChild.remove();
  lines.forEach((line, at) => set(list.children[at] || list.appendChild(document.createElement('li')), line));
}

// ---- output of a run

function clearOutput() {
  $('output').replaceChildren();
  $('left-out').hidden = true;
  $('left-out').dataset.count = '0';
}

function leaveOut(count) {
  if (!count) return;
  const all = Number($('left-out').dataset.count || 0) + count;
  $('left-out').dataset.count = String(all);
  set($('left-out'), all + ' earlier lines are not shown here; gpush logs ' + chosen().run + ' has them.');
  $('left-out').hidden = false;
}

// Colours and moves of the cursor are for terminals; of a line that was written over, the last state counts.
const plain = text => text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/\r+$/, '').replace(/^.*\r/, '');

function addOutput(message) {
  const output = $('output');
  const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 8;
  const lines = document.createDocumentFragment();
  for (const each of message.data || []) {
    const line = document.createElement('div');
    if (each.type === 'line') {
      const rank = document.createElement('span');
      rank.className = 'rank';
      rank.textContent = '[' + (each.rank < 0 ? 'launcher' : each.rank) + '] ';
      line.append(rank, plain(each.text));
      if (each.stream === 'err') line.className = 'error';
    } else {
      line.className = 'event';
      line.textContent = each.type === 'end'
        ? 'run ' + each.run + ' is ' + each.state + (each.exit === null ? '' : ' (' + each.exit + ')') : each.text || '';
    }
    lines.append(line);
  }
  output.append(lines);
  leaveOut(message.left_out);
  let dropped = 0;
  while (output.children.length > MOST_LINES) { output.firstChild.remove(); dropped++; }
  leaveOut(dropped);
  if (message.problem && !output.children.length) output.textContent = message.problem;
  if (atEnd) output.scrollTop = output.scrollHeight;
}

// ---- what has changed meanwhile

function tell(text) {
  const line = document.createElement('li');
  const time = document.createElement('time');
  time.textContent = new Date().toTimeString().slice(0, 5);
  line.append(time, text);
  $('news').append(line);
  while ($('news').children.length > MOST_NEWS) $('news').firstChild.remove();
  $('news-empty').hidden = true;
}

function tellChanges(what, before, now) {
  if (!before || !before.data || !now.data) return;
  const key = what === 'runs' ? each => each.session + ', run ' + each.run : each => each.name;
  const old = new Map(before.data.map(each => [key(each), each.state]));
  for (const each of now.data) {
    const name = key(each), was = old.get(name);
    old.delete(name);
    if (was !== each.state) {
      const why = each.failure ? each.failure.text : each.detail;
      tell(name + ' is ' + each.state + (why ? ': ' + why : ''));
    }
  }
  if (what === 'sessions') old.forEach((_, name) => tell(name + ' is gone'));
}

// ---- the stream

function hear(message) {
  if (message.of === 'output') return addOutput(message);
  const before = known[message.of];
  const isOther = message.of === 'runs' && before && before.session !== chosen().session;
  if (message.of === 'runs') message.session = chosen().session;
  known[message.of] = message;
  came[message.of] = Date.now();
  if (['sessions', 'runs'].includes(message.of) && !isOther) tellChanges(message.of, before, message);
  if (message.of === 'sessions' && chosen().session !== stream.session) connect();
  drawAll();
}

function standing(word, text) {
  $('standing').dataset.standing = word;
  set($('standing'), text);
}

function warn(text) {
  set($('warning'), text);
  $('warning').hidden = !text;
}

// Replaces the stream by one of what is shown now; none while the page cannot be seen.
function connect() {
  if (stream) stream.abort.abort();
  const { session, run } = chosen();
  if (!stream || stream.session !== session) Object.assign(known, { nodes: null, runs: null, usage: null });
  if (!$('usage').checked) known.usage = null;
  stream = { session, run, abort: new AbortController() };
  clearOutput();
  drawAll();
  if (document.hidden) return standing('waiting', 'paused');
  const fields = new URLSearchParams();
  if (session) fields.set('session', session);
  if (run) fields.set('run', run);
  if (session && $('usage').checked) fields.set('usage', '1');
  listen(stream, '/live?' + fields);
}

async function listen(own, address) {
  for (let pause = FIRST_PAUSE_MS; own === stream; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const attempt = new AbortController();
    const end = () => attempt.abort();
    own.abort.signal.addEventListener('abort', end);
    try {
      const answer = await fetch(address, { headers: HEADER, signal: attempt.signal, cache: 'no-store' });
      if (!answer.ok) {
        warn(await answer.text());
        standing('lost', answer.status === 403 ? 'not logged in' : 'refused');
        if (answer.status !== 503) return;
      } else {
        warn('');
        standing('live', 'live');
        clearOutput();
        await read(answer.body.getReader(), own, end);
        if (own === stream) standing('lost', 'trying again');
      }
    } catch (gone) {
      if (own !== stream || own.abort.signal.aborted) return;
      standing('lost', 'no answer; trying again');
      warn('The gateway does not answer: it has ended, or was started again. Sessions and runs go on.'
        + ' Type gpush gateway page and open the address that it prints.');
    } finally {
      own.abort.signal.removeEventListener('abort', end);
    }
    await new Promise(done => setTimeout(done, pause));
  }
}

async function read(reader, own, end) {
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const silence = setTimeout(end, SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    // The gateway ends, or output has stopped before its run has ended.
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (own !== stream) return;
      if (line) hear(JSON.parse(line));
    }
  }
}

// ---- ending and extending, after a question

// What the dialog asks about: the command's first request, and then its open question.
let asking = null;

function ask({ heading, text, yes, times, body }) {
  asking = { body };
  set($('ask-title'), heading);
  set($('ask-text'), text);
  set($('ask-said'), '');
  set($('ask-yes'), yes);
  set($('ask-no'), 'Cancel');
  $('ask-yes').hidden = false;
  $('ask-yes').disabled = false;
  $('ask-yes').className = times ? '' : 'ends';
  $('ask-for').hidden = !times;
  $('ask').showModal();
  $('ask-no').focus();
}

$('ask-yes').onclick = async () => {
  const own = asking;
  if (!$('ask-for').hidden && $('ask-time').value) own.body.for = $('ask-time').value;
  $('ask-yes').disabled = true;
  set($('ask-said'), 'asking the gateway …');
  own.isOpen = false;
  const answer = await post(own.body);
  const isShown = own === asking;
  own.body = { do: 'answer', id: answer.id, asked: answer.asked, yes: true };
  if (answer.question && !isShown) {
    decline(own.body);
  } else if (answer.question) {
    own.isOpen = true;
    $('ask-for').hidden = true;
    set($('ask-text'), answer.question);
    set($('ask-said'), '');
    $('ask-yes').disabled = false;
    $('ask-no').focus();
  } else if (answer.done || !isShown) {
    tell(answer.said);
    if (isShown) $('ask').close();
  } else {
    set($('ask-said'), answer.said);
    $('ask-yes').hidden = true;
    set($('ask-no'), 'Close');
    $('ask-no').focus();
  }
};

// A question that is left is answered no, also when the page goes.
function decline(body) {
  post({ ...body, yes: false }, true);
}

addEventListener('pagehide', () => {
  if (!asking || !asking.isOpen) return;
  asking.isOpen = false;
  decline(asking.body);
  $('ask').close();
});

$('ask').onclose = () => {
  if (asking.isOpen) decline(asking.body);
  asking = null;
};

async function post(body, keepalive = false) {
  try {
    const answer = await fetch('/do', { method: 'POST', headers: { ...HEADER, 'Content-Type': 'application/json' },
      body: JSON.stringify(body), keepalive });
    return answer.ok ? await answer.json() : { done: false, said: await answer.text() };
  } catch (gone) {
    return { done: false, said: 'The gateway did not answer. gpush ps says what became of it.' };
  }
}

$('ask-no').onclick = () => $('ask').close();

$('down').onclick = () => {
  const session = sessionNow();
  if (!session) return;
  ask({
    heading: 'Give ' + session.name + ' back?',
    text: 'Its ' + session.shape + ' on ' + session.backend + ' are released.'
      + ' gpush asks again before it ends runs, and before it loses files that exist only there.',
    yes: 'Give back', body: { do: 'down', session: session.name },
  });
};

$('extend').onclick = () => {
  const session = sessionNow();
  if (!session) return;
  ask({
    heading: 'Extend ' + session.name + '?', text: 'Lease now: ' + lease(session) + '.',
    yes: 'Extend', times: true, body: { do: 'extend', session: session.name },
  });
};

$('stop').onclick = () => {
  const run = runNow();
  if (!run) return;
  ask({
    heading: 'Stop run ' + run.run + '?',
    text: title(run) + '\nAll its ranks are interrupted, and killed after 10 seconds. The session stays.',
    yes: 'Stop', body: { do: 'stop', session: run.session, run: run.run },
  });
};

addEventListener('hashchange', connect);
document.addEventListener('visibilitychange', connect);
$('usage').onchange = connect;
// Times that pass.
setInterval(drawAll, 10_000);
connect();
