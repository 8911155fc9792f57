export { figure } from "../testing/speed/cold-load.ts";
