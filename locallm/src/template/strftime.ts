const months = "January February March April May June July August September October November December".split(
  " ",
);
const days = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/**
 * C's strftime in the C locale and local time. Supports the directives that chat templates use and leaves
 * others unchanged.
 */
export function strftime(date: Date, format: string): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return format.replace(/%(-?)([A-Za-z%])/g, (whole, dash: string, letter: string) => {
    const number = (value: number) => (dash ? String(value) : two(value));
    switch (letter) {
      case "Y":
        return String(date.getFullYear());
      case "y":
        return two(date.getFullYear() % 100);
      case "m":
        return number(date.getMonth() + 1);
      case "d":
        return number(date.getDate());
      case "B":
        return months[date.getMonth()]!;
      case "b":
        return months[date.getMonth()]!.slice(0, 3);
      case "A":
        return days[date.getDay()]!;
      case "a":
        return days[date.getDay()]!.slice(0, 3);
      case "H":
        return number(date.getHours());
      case "I":
        return number(date.getHours() % 12 || 12);
      case "M":
        return number(date.getMinutes());
      case "S":
        return number(date.getSeconds());
      case "p":
        return date.getHours() < 12 ? "AM" : "PM";
      case "%":
        return "%";
      default:
        return whole;
    }
  });
}
