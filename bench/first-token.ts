export { figure } from "../testing/speed/first-token.ts";
