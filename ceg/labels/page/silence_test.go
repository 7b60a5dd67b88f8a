package page

import "time"

// SetSilence changes after which time a window that says nothing gives back its leases.
func (s *Server) SetSilence(d time.Duration) { s.silence = d }
