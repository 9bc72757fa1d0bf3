/** Plays an episode of Three Doors by hand: a door while all are locked, the question, then the door that was named. */
import { ThreeDoors } from "../three_doors.ts";

const [ask, left, middle] = [1, 2, 3];
const doors = new ThreeDoors();
const prompt = doors.reset(1);
const observations = [left, ask].map((word) => doors.step([word]).observation);
const { done } = doors.step([middle]);
console.log(JSON.stringify({
  prompt,
  observations,
  done,
  reward: doors.reward(),
  stop: doors.info().stop,
}));
