const { debounce, throttle, formatDate, parseDate } = require('./timing');

// Replaces the clock, so that no test has to wait.
function fakeClock() {
  const timers = [];
  let now = 0;
  return {
    tick(ms) {
      now += ms;
      for (const timer of timers.filter((t) => t.at <= now)) {
        timers.splice(timers.indexOf(timer), 1);
        timer.run();
      }
    },
    setTimeout: (run, ms) => timers.push({ run, at: now + ms }),
  };
}

function testDebounceRunsOnce() {
  let calls = 0;
  const save = debounce(() => { calls += 1; }, 10);
  save();
  save();
  setTimeout(() => console.assert(calls === 1, 'debounce'), 30);
}

function testDatesSurviveFormatting() {
  const date = parseDate('2024-02-29');
  console.assert(formatDate(date, 'YYYY-MM-DD') === '2024-02-29');
  console.assert(parseDate('2023-02-29') === null);
  console.assert(parseDate('yesterday') === null);
}

testDebounceRunsOnce();
testDatesSurviveFormatting();
