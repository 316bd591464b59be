package sqlgen

import "strings"

// nearest returns the name that differs from word by the fewest typing errors,
// when they are few enough for it to be what was meant.
func nearest(word string, names []string) (string, bool) {
	best, bestErrors := "", 1+min(3, len(word)/3)
	for _, name := range names {
		if n := typingErrors(strings.ToLower(word), strings.ToLower(name)); n < bestErrors {
			best, bestErrors = name, n
		}
	}
	return best, best != ""
}

// typingErrors counts the letters to insert, drop, replace or swap with the
// next one to make b of a.
func typingErrors(a, b string) int {
	x, y := []rune(a), []rune(b)
	if max(len(x), len(y)) > 200 {
		return 200
	}
	// rows[i][j] is the count for the first i letters of a and j of b.
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			replace := rows[i-1][j-1]
			if x[i-1] != y[j-1] {
				replace++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replace)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
