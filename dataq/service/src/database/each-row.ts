/**
 * Ends a subquery that looks into an index for each row of another table. The planner cannot make a join of such a
 * subquery; as a join, it could read a whole table for a few rows.
 */
export const eachRow = "offset 0";
