// What was decided and why, in words for somebody who has read nothing about it.

const DONE = { silent: "kept quiet", offer: "offered help", speak: "answered" };

const WHY = {
  "addressed": "it was spoken to",
  "not addressed": "nobody spoke to it",
  "not finished": "the sentence was not finished",
  "postponed": "the question was put off",
  "asked to keep quiet": "it was asked not to answer",
  "asked to listen": "it was asked to only listen",
  "listening": "it only listens until it may talk again",
  "asked while listening": "it only listens, but this was put to it by name",
  "only listened to": "this person is only listened to",
  "answers its question": "this answers what it had asked",
  "knows the answer": "somebody wondered, and it knows",
  "wondered about": "somebody wondered about asking it",
  "has something to add": "it has something to add",
  "urgent": "it has something to say that cannot wait",
  "theirs to answer": "somebody else was asked first",
  "resume after cut": "its answer was cut off and may go on",
  "nothing to judge": "there were no words to judge",
  "fallback": "it could not decide in time, and answers then",
  "always": "it answers everything",
};

const WEIGHED = {
  directness: "spoken to the agent",
  request: "asks for something now",
  unfinished: "breaks off",
  deferred: "puts it off",
  hush: "wants no answer",
  answered: "answers the agent's question",
  listen_request: "wants it to only listen",
  asked_me: "is put to the agent itself",
  lift: "lets it talk again",
  answers: "its thought answers this",
  corrects: "its thought corrects this",
  waiting: "somebody else was asked",
  resume: "leaves it free to go on",
  listening: "it only listens",
  alone: "added: nobody else is there",
  carry_over: "added: it has just answered them",
};

// A blocked decision's reason names the hook, and a policy of the host's own has reasons of its own: those stand as they are.
export const done = (mode) => DONE[mode] ?? mode;
export const why = (reason) => WHY[reason] ?? reason;
export const weighed = (name) => WEIGHED[name] ?? name.replaceAll("_", " ").replace("=", ": ");
