"""What domains of customer service share: progress, rules, tasks, oracle, saboteurs, grading."""
