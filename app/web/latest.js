/** Asking as one types: after a pause, and only the answer to the last question counts. */

/**
 * A function `ask(question)`. After `pause` milliseconds without another question it calls
 * `answer(question, signal)`, then `show(result, question)`, or `fail(error, question)`. What was
 * asked before is aborted and shown no more. `ask.now` does not wait; `ask.stop()` drops it all.
 */
export function latest({ pause, answer, show, fail }) {
  let timer = 0;
  let running = new AbortController();
  const stop = () => {
    clearTimeout(timer);
    running.abort();
  };
  const now = async (question) => {
    stop();
    const { signal } = (running = new AbortController());
    try {
      const result = await answer(question, signal);
      if (!signal.aborted) show(result, question);
    } catch (error) {
      if (!signal.aborted) fail(error, question);
    }
  };
  const ask = (question) => {
    stop();
    timer = setTimeout(now, pause, question);
  };
  return Object.assign(ask, { now, stop });
}
