/** Texts to begin with. */

const TEXTS = [
  "Hello, I was charged twice for my plan this month and would like the second payment back. Also, "
    + "since the last update the camera in the hallway goes offline every night.",
  "The courier left the parcel with a neighbour who knows nothing about it. The tracking page says "
    + "delivered, but the doorbell never arrived. Can you send another one?",
  "I cannot sign in any more: the reset link in the mail has expired, and the app says that my "
    + "account is locked. The thermostat keeps heating meanwhile.",
];
let next = 0;

/** Another text each time. */
export const exampleText = () => TEXTS[next++ % TEXTS.length];
