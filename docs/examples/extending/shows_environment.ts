/** Plays an episode of Three Doors by hand: a peek behind each door, then the one with the key. */
import { encode } from "agentrl";
import { ThreeDoors } from "../three_doors.ts";

const doors = new ThreeDoors();
const prompt = doors.reset(1);
const observations = ["min", "guard"].map((door) =>
  doors.step(encode(`<call> read ${door} </call>`)).observation.length
);
const { done } = doors.step(encode("<call> submit guard </call>"));
console.log(JSON.stringify({
  prompt: prompt.length,
  observations,
  done,
  reward: doors.reward(),
  stop: doors.info().stop,
}));
